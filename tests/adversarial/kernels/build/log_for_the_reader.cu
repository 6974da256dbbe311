// idea: the log is shown to people: escape codes for a terminal, a script for a browser, and more of it than anyone keeps
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: control characters are taken out, the length is bounded, pages escape
#include "common/vector_add.cuh"
#pragma message("\033]0;owned\007\033[31m<script>fetch('//evil')</script>")
#define M1 _Pragma("message(\"<img src=x onerror=alert(1)> again and again and again and again and again\")")
#define M2 M1 M1 M1 M1 M1 M1 M1 M1
#define M3 M2 M2 M2 M2 M2 M2 M2 M2
M3 M3
#error <script>alert(1)</script>

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
