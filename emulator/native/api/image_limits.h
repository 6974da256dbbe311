// The largest textures and surfaces, in texels and layers: those of compute capability 8.0 and 9.0.
#pragma once

#include <cuda_runtime_api.h>

namespace emu::image_limits {

constexpr int width_1d = 131072, width_1d_mipmapped = 32768, width_1d_linear = 1 << 28;
constexpr int size_2d[] = {131072, 65536}, size_2d_mipmapped[] = {32768, 32768}, size_2d_gathered[] = {32768, 32768};
constexpr int size_2d_linear[] = {131072, 65000, 2097120};  // the last: bytes of a row's pitch
constexpr int size_3d[] = {16384, 16384, 16384}, size_3d_alternate[] = {8192, 8192, 32768};
constexpr int layers_1d[] = {32768, 2048}, layers_2d[] = {32768, 32768, 2048}, cubemap = 32768,
              cubemap_layers[] = {32768, 2046};
constexpr int surface_1d = 32768;  // those of other shapes are as large as textures

struct Limit {
    cudaDeviceAttr attribute;
    int value;
};

constexpr Limit all[] = {
    {cudaDevAttrMaxTexture1DWidth, width_1d},
    {cudaDevAttrMaxTexture1DMipmappedWidth, width_1d_mipmapped},
    {cudaDevAttrMaxTexture1DLinearWidth, width_1d_linear},
    {cudaDevAttrMaxTexture2DWidth, size_2d[0]},
    {cudaDevAttrMaxTexture2DHeight, size_2d[1]},
    {cudaDevAttrMaxTexture2DMipmappedWidth, size_2d_mipmapped[0]},
    {cudaDevAttrMaxTexture2DMipmappedHeight, size_2d_mipmapped[1]},
    {cudaDevAttrMaxTexture2DLinearWidth, size_2d_linear[0]},
    {cudaDevAttrMaxTexture2DLinearHeight, size_2d_linear[1]},
    {cudaDevAttrMaxTexture2DLinearPitch, size_2d_linear[2]},
    {cudaDevAttrMaxTexture2DGatherWidth, size_2d_gathered[0]},
    {cudaDevAttrMaxTexture2DGatherHeight, size_2d_gathered[1]},
    {cudaDevAttrMaxTexture3DWidth, size_3d[0]},
    {cudaDevAttrMaxTexture3DHeight, size_3d[1]},
    {cudaDevAttrMaxTexture3DDepth, size_3d[2]},
    {cudaDevAttrMaxTexture3DWidthAlt, size_3d_alternate[0]},
    {cudaDevAttrMaxTexture3DHeightAlt, size_3d_alternate[1]},
    {cudaDevAttrMaxTexture3DDepthAlt, size_3d_alternate[2]},
    {cudaDevAttrMaxTextureCubemapWidth, cubemap},
    {cudaDevAttrMaxTexture1DLayeredWidth, layers_1d[0]},
    {cudaDevAttrMaxTexture1DLayeredLayers, layers_1d[1]},
    {cudaDevAttrMaxTexture2DLayeredWidth, layers_2d[0]},
    {cudaDevAttrMaxTexture2DLayeredHeight, layers_2d[1]},
    {cudaDevAttrMaxTexture2DLayeredLayers, layers_2d[2]},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, cubemap_layers[0]},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, cubemap_layers[1]},
    {cudaDevAttrMaxSurface1DWidth, surface_1d},
    {cudaDevAttrMaxSurface2DWidth, size_2d[0]},
    {cudaDevAttrMaxSurface2DHeight, size_2d[1]},
    {cudaDevAttrMaxSurface3DWidth, size_3d[0]},
    {cudaDevAttrMaxSurface3DHeight, size_3d[1]},
    {cudaDevAttrMaxSurface3DDepth, size_3d[2]},
    {cudaDevAttrMaxSurface1DLayeredWidth, layers_1d[0]},
    {cudaDevAttrMaxSurface1DLayeredLayers, layers_1d[1]},
    {cudaDevAttrMaxSurface2DLayeredWidth, layers_2d[0]},
    {cudaDevAttrMaxSurface2DLayeredHeight, layers_2d[1]},
    {cudaDevAttrMaxSurface2DLayeredLayers, layers_2d[2]},
    {cudaDevAttrMaxSurfaceCubemapWidth, cubemap},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, cubemap_layers[0]},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, cubemap_layers[1]},
    {cudaDevAttrSurfaceAlignment, 512},
};

}  // namespace emu::image_limits
