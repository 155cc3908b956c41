import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 allocate every object in the young generation. By itself it moves the places whose objects lived longer than
 * others while the process started to the old one, where each of them keeps its whole call until a full collection.
 */
export function keepObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
