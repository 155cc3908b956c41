import { setFlagsFromString } from 'node:v8';

/** Half of the largest semi-space of V8 before version 13. */
const HALF_SEMI_SPACE_MB = 8;

/**
 * Bounds the memory of buffers that nothing holds any more. A socket makes a new buffer for each read, and V8 frees the
 * dropped ones when they have twice the size of its largest semi-space. With this bound they take 32 MB at most, as
 * before version 13 (Node.js 24). The young generation itself keeps its size. Other versions of V8 do not know the flag.
 */
export function boundDroppedBuffers(): void {
  if (!process.versions.v8.startsWith('13.')) return;
  setFlagsFromString(`--scavenger-max-new-space-capacity-mb=${HALF_SEMI_SPACE_MB}`);
}
