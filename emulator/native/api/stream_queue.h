// Carries out the work of streams: at once, or, where the order is drawn (`schedule_seed`), as late or in as odd an
// order as events and synchronisation allow, so that what a program forgot to wait for shows in its results.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "api/tasks.h"

namespace emu {

using Work = std::function<cudaError_t()>;

// Whether work waits in queues.
bool defers_work();

// How much work waits in queues, without what another thread carries out just now.
size_t pending_work();

// Carries out `work` when its turn comes.
cudaError_t enqueue(TaskPointer task, Work work);

// Carries out what is within `clock`, and perhaps more.
void drain(const TaskClock &clock);
void drain();

// Draws a number below `count`, which is not 0. The newest, where work is to be as late as can be.
size_t draw_next(size_t count);

// Creates a thread that carries out what is left while the host calls nothing: it may wait for what a kernel writes.
// Call once, before threads are forbidden.
void start_queue_thread();

// Begins to draw orders anew.
void seed_queue(bool defers, bool late, uint64_t seed);

// The host gives work: what it has touched so far comes before that.
void note_host_accesses();
// The task has been given, and the host does not wait for it.
void host_goes_on(const Task &task);
// The host may learn that what is within `clock` is over, in a way that nobody sees.
void host_hears(const TaskClock &clock);
// What the host has waited for: all that it starts comes after that.
TaskClock host_clock();
// The host waits until what is within `clock` is over.
void host_waits(const TaskClock &clock);
// The same for all work there is. What was before can race with nothing from now on.
void host_waits();

}  // namespace emu
