// Objects of this library with static storage are never destroyed. A program may leave by exit() on one thread while
// others launch, or while code is being made for them, and its own destructors may still call the runtime.

extern "C" {

// What the compiler calls to have such an object destroyed at the end; the one of the C library stays that of everybody
// else.
__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
}
