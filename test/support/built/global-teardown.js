import { closeRunFolder } from './temp-folders.js';

/** Removes what {@link closeRunFolder} says. */
export default function globalTeardown() {
  closeRunFolder();
}
