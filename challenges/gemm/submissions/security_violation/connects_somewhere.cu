// expect: case=one-tile
// Would send the inputs away.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <netinet/in.h>
#include <sys/socket.h>

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    int there = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(53);
    address.sin_addr.s_addr = htonl(0x7f000001);
    sendto(there, "hello", 5, 0, (sockaddr*)&address, sizeof address);
}
