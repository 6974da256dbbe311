"""The options of the compiler. Needs no LLVM, so that the cache can be read without it."""

from __future__ import annotations

from records import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """The CPU that code is compiled for: LLVM's name for it, and its features (``+avx2,-avx512f,…``)."""

    cpu: str
    features: str

    @property
    def has_avx512(self) -> bool:
        return all(f"+{name}" in self.features.split(",") for name in ("avx512f", "avx512vl", "avx512bw", "avx512dq"))


@dataclass(frozen=True, slots=True)
class Options:
    """How kernels are compiled.

    ``check_memory`` False leaves the checks of global and shared accesses out (benchmarks of their cost). ``observe``
    reports every access and warp-wide sync to the library, and counts how often each basic block runs, with how many
    lanes (native/exec/observe.h). ``follow``, with ``observe``, also follows what was read where nobody had written
    (``origins``). ``target``: None is this CPU.
    """

    check_memory: bool = True
    observe: bool = False
    follow: bool = False
    target: Target | None = None

    @classmethod
    def observed(cls, extent: int) -> Options:
        """Returns the options for an ``EmuObserved`` of native/abi.h."""
        return cls(observe=extent > 0, follow=extent > 1)


DEFAULT_OPTIONS = Options()
