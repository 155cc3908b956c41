import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8_192;
const RANDOM_BYTES = 10;
const pool = Buffer.alloc(POOL_BYTES);
let poolOffset = POOL_BYTES;

/**
 * A UUID version 7: 48 bits of milliseconds, then random bits. Later ids sort after earlier ones, so an index on them
 * grows at one end.
 */
export function uuidV7(nowMs: number): string {
  if (poolOffset + RANDOM_BYTES > POOL_BYTES) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const random = pool.toString('hex', poolOffset, poolOffset + RANDOM_BYTES);
  poolOffset += RANDOM_BYTES;
  const time = nowMs.toString(16).padStart(12, '0');
  const variant = '89ab'.charAt(parseInt(random.charAt(3), 16) & 3);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
