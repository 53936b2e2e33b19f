/**
 * The layout of the positions of rows in another order: UINT32, little endian, in that order; 1,024 of them are a chunk.
 */
export const chunkPositions = 1024

export const positionBytes = 4
