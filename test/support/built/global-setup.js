import { buildWhenStale } from '../../../scripts/build-when-stale.js';

/** Builds where a source has changed. */
export default function globalSetup() {
  if (buildWhenStale() !== 0) throw new Error('the build failed');
}
