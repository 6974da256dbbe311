// Streams, events and graphs: the runtime's handles, flags and numbers are the driver's.

#include "driver/call.h"

using namespace emu;

EMU_FORWARD(cuStreamCreate, cudaStreamCreateWithFlags, (CUstream * out, unsigned flags), (out, flags))
EMU_FORWARD(cuStreamCreateWithPriority, cudaStreamCreateWithPriority, (CUstream * out, unsigned flags, int priority),
            (out, flags, priority))
EMU_FORWARD(cuStreamDestroy, cudaStreamDestroy, (CUstream stream), (stream))
EMU_ALSO(cuStreamDestroy_v2, cuStreamDestroy);
EMU_FORWARD(cuStreamSynchronize, cudaStreamSynchronize, (CUstream stream), (stream))
EMU_FORWARD(cuStreamQuery, cudaStreamQuery, (CUstream stream), (stream))
EMU_FORWARD(cuStreamWaitEvent, cudaStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
            (stream, event, flags))
EMU_FORWARD(cuStreamGetFlags, cudaStreamGetFlags, (CUstream stream, unsigned *flags), (stream, flags))
EMU_FORWARD(cuStreamGetPriority, cudaStreamGetPriority, (CUstream stream, int *priority), (stream, priority))
EMU_FORWARD(cuStreamGetId, cudaStreamGetId, (CUstream stream, unsigned long long *id), (stream, id))
EMU_FORWARD(cuStreamGetDevice, cudaStreamGetDevice, (CUstream stream, CUdevice *device), (stream, device))
EMU_FORWARD(cuStreamAttachMemAsync, cudaStreamAttachMemAsync,
            (CUstream stream, CUdeviceptr address, size_t size, unsigned flags),
            (stream, reinterpret_cast<void *>(address), size, flags))
EMU_FORWARD(cuStreamCopyAttributes, cudaStreamCopyAttributes, (CUstream to, CUstream from), (to, from))
EMU_FORWARD(cuStreamSetAttribute, cudaStreamSetAttribute,
            (CUstream stream, CUstreamAttrID which, const CUstreamAttrValue *value),
            (stream, static_cast<cudaLaunchAttributeID>(which),
             reinterpret_cast<const cudaLaunchAttributeValue *>(value)))
EMU_FORWARD(cuStreamAddCallback, cudaStreamAddCallback,
            (CUstream stream, CUstreamCallback callback, void *data, unsigned flags),
            (stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags))
EMU_FORWARD(cuLaunchHostFunc, cudaLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
            (stream, function, data))

EMU_API CUresult cuStreamGetCtx(CUstream, CUcontext *out) { return cuCtxGetCurrent(out); }

EMU_FORWARD(cuEventCreate, cudaEventCreateWithFlags, (CUevent * out, unsigned flags), (out, flags))
EMU_FORWARD(cuEventDestroy, cudaEventDestroy, (CUevent event), (event))
EMU_ALSO(cuEventDestroy_v2, cuEventDestroy);
EMU_FORWARD(cuEventRecord, cudaEventRecord, (CUevent event, CUstream stream), (event, stream))
EMU_FORWARD(cuEventRecordWithFlags, cudaEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags),
            (event, stream, flags))
EMU_FORWARD(cuEventQuery, cudaEventQuery, (CUevent event), (event))
EMU_FORWARD(cuEventSynchronize, cudaEventSynchronize, (CUevent event), (event))
EMU_FORWARD(cuEventElapsedTime, cudaEventElapsedTime, (float *ms, CUevent from, CUevent to), (ms, from, to))
EMU_ALSO(cuEventElapsedTime_v2, cuEventElapsedTime);

EMU_FORWARD(cuStreamBeginCapture, cudaStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode),
            (stream, static_cast<cudaStreamCaptureMode>(mode)))
EMU_FORWARD(cuStreamEndCapture, cudaStreamEndCapture, (CUstream stream, CUgraph *out), (stream, out))
EMU_FORWARD(cuStreamIsCapturing, cudaStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status),
            (stream, reinterpret_cast<cudaStreamCaptureStatus *>(status)))
EMU_FORWARD(cuStreamGetCaptureInfo, cudaStreamGetCaptureInfo,
            (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **before,
             const CUgraphEdgeData **edges, size_t *count),
            (stream, reinterpret_cast<cudaStreamCaptureStatus *>(status), reinterpret_cast<unsigned long long *>(id),
             graph, before, reinterpret_cast<const cudaGraphEdgeData **>(edges), count))
EMU_FORWARD(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode),
            (reinterpret_cast<cudaStreamCaptureMode *>(mode)))

EMU_FORWARD(cuGraphCreate, cudaGraphCreate, (CUgraph * out, unsigned flags), (out, flags))
EMU_FORWARD(cuGraphDestroy, cudaGraphDestroy, (CUgraph graph), (graph))
EMU_FORWARD(cuGraphClone, cudaGraphClone, (CUgraph * out, CUgraph original), (out, original))
EMU_FORWARD(cuGraphGetNodes, cudaGraphGetNodes, (CUgraph graph, CUgraphNode *out, size_t *count), (graph, out, count))
EMU_FORWARD(cuGraphInstantiate, cudaGraphInstantiateWithFlags,
            (CUgraphExec * out, CUgraph graph, unsigned long long flags), (out, graph, flags))
EMU_FORWARD(cuGraphUpload, cudaGraphUpload, (CUgraphExec graph, CUstream stream), (graph, stream))
EMU_FORWARD(cuGraphLaunch, cudaGraphLaunch, (CUgraphExec graph, CUstream stream), (graph, stream))
EMU_FORWARD(cuGraphExecDestroy, cudaGraphExecDestroy, (CUgraphExec graph), (graph))

EMU_PER_THREAD_STREAM(cuStreamSynchronize, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamQuery, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamWaitEvent, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamGetFlags, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamGetPriority, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamGetId, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamGetDevice, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamGetCtx, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamAttachMemAsync, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamCopyAttributes, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamSetAttribute, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamAddCallback, _ptsz);
EMU_PER_THREAD_STREAM(cuLaunchHostFunc, _ptsz);
EMU_PER_THREAD_STREAM(cuEventRecord, _ptsz);
EMU_PER_THREAD_STREAM(cuEventRecordWithFlags, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamBeginCapture_v2, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamEndCapture, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamIsCapturing, _ptsz);
EMU_PER_THREAD_STREAM(cuStreamGetCaptureInfo_v3, _ptsz);
EMU_PER_THREAD_STREAM(cuGraphUpload, _ptsz);
EMU_PER_THREAD_STREAM(cuGraphLaunch, _ptsz);
