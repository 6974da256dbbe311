"""A case of clusters: special registers, distributed shared memory, remote mbarriers, multicast copies."""

from __future__ import annotations

import numpy as np

from tests.unit.emulator.hopper.device import Device, tensor_map

BLOCKS = 4

_TEXT = """
    .extern .shared .align 1024 .b8 window[];
    .visible .entry k(.param .u64 out, .param .u64 map) .explicitcluster .reqnctapercluster 4, 1, 1 {
        .reg .b32 %r<30>, %bar, %base; .reg .b64 %rd<16>; .reg .pred %p<8>;
        mov.u32 %bar, window; add.u32 %base, %bar, 2047; and.b32 %base, %base, 0xfffffc00;
        mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
        ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [map];
        mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %clusterid.x;
        mov.u32 %r5, %nclusterid.x; mov.u32 %r6, %ctaid.x;
        mad.wide.u32 %rd1, %r6, 128, %rd1;
        // [bar]: arrivals of all blocks; [bar + 8]: bytes of the multicast; [bar + 16], [bar + 20]: for others
        @%p1 mbarrier.init.shared::cta.b64 [%bar], 4;
        @%p1 mbarrier.init.shared::cta.b64 [%bar+8], 1;
        @%p1 st.shared.u32 [%bar+20], 0;
        fence.mbarrier_init.release.cluster;
        barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
        @!%p1 bra after;
        // to the next block: a number, one to its sum, an arrival; to all: an arrival at the first one's
        add.u32 %r7, %r2, 1; and.b32 %r7, %r7, 3;
        add.u32 %r8, %bar, 16; mapa.shared::cluster.u32 %r9, %r8, %r7;
        add.u32 %r10, %r2, 100; st.shared::cluster.u32 [%r9], %r10;
        atom.shared::cluster.add.u32 %r11, [%r9+4], 5;
        mapa.shared::cluster.u32 %r12, %bar, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar+8], 64;
        setp.ne.u32 %p3, %r2, 1; @%p3 bra after;
        mov.u32 %r13, 0; mov.u16 %h, 0xf;
        cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
            [%base], [%rd2, {%r13}], [%bar+8], %h;
        after:
        bar.sync 0;
        barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
        again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%bar+8], 0; @!%p2 bra again;
        mov.u32 %r14, 9; setp.ne.u32 %p4, %r2, 0; @%p4 bra skip;
        mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%bar], 0; selp.u32 %r14, 1, 0, %p2;
        skip:
        ld.shared.u32 %r15, [%bar+16]; ld.shared.u32 %r16, [%bar+20]; ld.shared.u32 %r17, [%base+60];
        // the own number, read by way of the block it went to
        mapa.shared::cluster.u32 %r9, %r8, %r7; @%p1 ld.shared::cluster.u32 %r18, [%r9];
        cvt.u64.u32 %rd3, %r8; cvta.shared.u64 %rd3, %rd3; mapa.u64 %rd4, %rd3, %r7; @%p1 ld.u32 %r19, [%rd4];
        // ranks of the blocks whose memory has them: of both addresses, of the end of a window, of the block itself
        getctarank.shared::cluster.u32 %r20, %r9; getctarank.u64 %r21, %rd4;
        mapa.shared::cluster.u32 %r22, %bar, 3; add.u32 %r22, %r22, 8191;
        getctarank.shared::cluster.u32 %r22, %r22;
        getctarank.shared::cluster.u32 %r23, window; getctarank.u64 %r24, %rd3;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        @!%p1 bra done;
        STORES
        done: ret;
    }"""


def run_cluster(device: Device) -> str:
    """Two clusters of four blocks."""
    order = (2, 3, 4, 5, *range(14, 25))
    text = _TEXT.replace("STORES", "".join(f"st.global.u32 [%rd1+{4 * n}], %r{r};" for n, r in enumerate(order)))
    text = text.replace(".reg .pred %p<8>;", ".reg .pred %p<8>; .reg .b16 %h;")
    expected = np.zeros((2 * BLOCKS, 32), np.uint32)
    for block in range(2 * BLOCKS):
        rank = block % BLOCKS
        before = (rank - 1) % BLOCKS
        after = (rank + 1) % BLOCKS
        row = [rank, 4, block // BLOCKS, 2, 9 if rank else 1, 100 + before, 5, 1015, 100 + rank, 100 + rank]
        row += [after, after, BLOCKS - 1, rank, rank]
        expected[block, : len(row)] = row
    source = device.upload(np.arange(1000, 1016, dtype=np.uint32))
    mapped = tensor_map(device, source, "u32", (16,), (), (16,))
    target = device.upload(np.zeros_like(expected))
    device.launch(text, 2 * BLOCKS, 64, 8192, target, mapped)
    found = device.download(target, expected)
    wrong = np.argwhere(found != expected)
    return (
        f"cluster: {[(tuple(at), int(found[tuple(at)]), int(expected[tuple(at)])) for at in wrong[:8]]}"
        if len(wrong)
        else ""
    )
