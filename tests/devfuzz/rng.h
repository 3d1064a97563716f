/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* splitmix64 (Steele, Lea, Flood 2014): a seed gives the same numbers on each machine. */
#ifndef FUZZ_RNG_H
#define FUZZ_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns a number from 0 to @n - 1. */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return rng_next(rng) % n;
}

/* Returns true with a probability of 1 / @n. */
static inline bool rng_once_in(struct rng *rng, unsigned int n)
{
	return !rng_below(rng, n);
}

/* Returns an independent generator for the part @what of the run. */
static inline struct rng rng_split(struct rng *rng, uint64_t what)
{
	return (struct rng){ rng_next(rng) ^ (what * 0xda942042e4dd58b5) };
}

/* Returns a number that is mostly small, sometimes at an edge, or any. */
static inline uint64_t rng_number(struct rng *rng)
{
	static const uint64_t edges[] = {
		0, 1, 4095, 4096, 4097, 1 << 20, 1U << 31, UINT32_MAX, 1ULL << 32,
		INT64_MAX, 1ULL << 63, UINT64_MAX - 4095, UINT64_MAX,
	};

	switch (rng_below(rng, 8)) {
	case 0:
		return edges[rng_below(rng, sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return rng_next(rng);
	default:
		return rng_below(rng, 64);
	}
}

#endif /* FUZZ_RNG_H */
