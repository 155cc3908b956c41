import * as module from 'node:module';
import { setFlagsFromString } from 'node:v8';

/** Half of the largest semi-space of V8 before version 13. */
const HALF_SEMI_SPACE_MB = 8;

/*
 * Allocates every object in the young generation. By default V8 allocates the objects of some call sites in the old
 * generation, if they lived long while the process started; there each keeps its whole call until a full collection.
 * With this flag a speech request took 284 instead of 361 µs of CPU, together with the changes of ADR 0007.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/*
 * Limits the memory of unreferenced buffers to 32 MB, as before version 13 (Node.js 24): a socket allocates a buffer
 * for each read, and V8 frees the unreferenced ones when they have twice the size of its largest semi-space. An upload
 * of 2 GB grew the process by 37 instead of 84 MB and took 7.5 instead of 11 s. The young generation itself keeps its
 * size. Other versions of V8 do not know the flag.
 */
if (process.versions.v8.startsWith('13.'))
  setFlagsFromString(`--scavenger-max-new-space-capacity-mb=${HALF_SEMI_SPACE_MB}`);

/*
 * Shows the TypeScript lines of the gateway in stack traces. The flag `--enable-source-maps` does it for all packages too, whose
 * maps take 17 MB; Node.js before 22.14 knows no other way.
 */
const { setSourceMapsSupport } = module as {
  readonly setSourceMapsSupport?: (isEnabled: boolean) => void;
};
if (setSourceMapsSupport) setSourceMapsSupport(true);
else process.setSourceMapsEnabled(true);
