import { checkOverlay } from '../catalog/catalog-check.js';
import { loadCatalog } from '../catalog/catalog-file.js';

/** What an overlay on the catalog would change, or all that is wrong with it. Nothing uses the file. */
export function checkCatalog(file: string): object {
  return checkOverlay(() => loadCatalog(file));
}
