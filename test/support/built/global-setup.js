import { buildWhenStale } from '../../../scripts/build-when-stale.js';
import { openRunFolder } from './temp-folders.js';

/** Builds where a source has changed, and makes the folder of the run. */
export default function globalSetup() {
  if (buildWhenStale() !== 0) throw new Error('the build failed');
  openRunFolder();
}
