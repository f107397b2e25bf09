/* What the two `sobel` share: Sobel's edges of rows of a grey picture, reading and writing PNG, a picture to
 * try. C and C++. */
#pragma once

#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int width, height;
  uint8_t* pixels; /* grey, row by row; to be freed */
} Picture;

static inline int sobel_at(const uint8_t* above, const uint8_t* row, const uint8_t* below, int x, int width) {
  const int left = x > 0 ? x - 1 : x, right = x + 1 < width ? x + 1 : x;
  const int dx = above[right] + 2 * row[right] + below[right] - above[left] - 2 * row[left] - below[left];
  const int dy = below[left] + 2 * below[x] + below[right] - above[left] - 2 * above[x] - above[right];
  const int edge = abs(dx) + abs(dy);
  return edge > 255 ? 255 : edge;
}

/* The edges of `rows` rows. `halo` has one row more above and below them. */
static inline void sobel_rows(const uint8_t* halo, uint8_t* edges, int rows, int width) {
  for (int y = 0; y < rows; y++) {
    const uint8_t* above = halo + (size_t)y * (size_t)width;
    for (int x = 0; x < width; x++)
      edges[(size_t)y * (size_t)width + (size_t)x] =
          (uint8_t)sobel_at(above, above + width, above + 2 * width, x, width);
  }
}

/* Rows begin - 1 to end of the picture, with those of its edge twice. `halo` has room for end - begin + 2. */
static inline void sobel_halo(const Picture* picture, int begin, int end, uint8_t* halo) {
  for (int y = begin - 1; y <= end; y++) {
    const int inside = y < 0 ? 0 : y >= picture->height ? picture->height - 1 : y;
    memcpy(halo + (size_t)(y - begin + 1) * (size_t)picture->width,
           picture->pixels + (size_t)inside * (size_t)picture->width, (size_t)picture->width);
  }
}

/* Whether one process alone finds the same edges. */
static inline int sobel_is_right(const Picture* picture, const uint8_t* edges) {
  const size_t width = (size_t)picture->width, height = (size_t)picture->height;
  uint8_t* halo = (uint8_t*)malloc((height + 2) * width);
  uint8_t* expected = (uint8_t*)malloc(height * width);
  int right = halo && expected;
  if (right) {
    sobel_halo(picture, 0, picture->height, halo);
    sobel_rows(halo, expected, picture->height, picture->width);
    right = memcmp(expected, edges, height * width) == 0;
  }
  free(halo);
  free(expected);
  return right;
}

/* Rings and a square. Without memory the picture has no pixels. */
static inline Picture sobel_test_picture(int width, int height) {
  Picture picture = {width, height, (uint8_t*)malloc((size_t)width * (size_t)height)};
  for (int y = 0; picture.pixels && y < height; y++)
    for (int x = 0; x < width; x++) {
      const double distance =
          sqrt((double)((x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2)));
      const int in_square = x > width / 8 && x < width / 4 && y > height / 8 && y < height / 4;
      picture.pixels[(size_t)y * (size_t)width + (size_t)x] =
          (uint8_t)(in_square ? 250 : 128 + 100 * sin(distance / 12));
    }
  return picture;
}

/* A PNG as grey. 0 on failure. */
static inline int sobel_read(const char* path, Picture* picture) {
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path)) return 0;
  image.format = PNG_FORMAT_GRAY;
  picture->width = (int)image.width;
  picture->height = (int)image.height;
  picture->pixels = (uint8_t*)malloc(PNG_IMAGE_SIZE(image));
  if (picture->pixels && png_image_finish_read(&image, NULL, picture->pixels, 0, NULL)) return 1;
  png_image_free(&image);
  free(picture->pixels);
  picture->pixels = NULL;
  return 0;
}

static inline int sobel_write(const char* path, int width, int height, const uint8_t* pixels) {
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_GRAY;
  image.width = (png_uint_32)width;
  image.height = (png_uint_32)height;
  return png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
}
