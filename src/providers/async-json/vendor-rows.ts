import { sellingFaults } from './row-check.js';
import { sellingOfImages, type SoldImages } from './sold-images.js';
import { sellingOfMusic, type SoldMusic, unitFaults } from './sold-music.js';
import { sellingOfVideos, type SoldVideos } from './sold-videos.js';
import type { VendorFile } from './vendor-file.js';

/**
 * What of a row the file of its vendor, which is for the row's operation, cannot serve: one line for each field that the row lists and
 * the body does not take, and for each of the row's terms that changes what was priced. Each begins with the field of the row.
 */
export function vendorRowFaults(
  vendor: VendorFile,
  row: SoldVideos | SoldImages | SoldMusic,
): string[] {
  if (row.operation === 'video') return sellingFaults(vendor, sellingOfVideos(row));
  if (row.operation === 'composition') {
    const selling = sellingOfMusic(vendor, row);
    return [...unitFaults(vendor, selling, row), ...sellingFaults(vendor, selling)];
  }
  const edits =
    row.limits.maxEditImages === undefined
      ? []
      : [`limits.max_edit_images: the file of provider ${vendor.id} describes no edits`];
  return [...edits, ...sellingFaults(vendor, sellingOfImages(row))];
}
