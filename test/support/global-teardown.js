import { untouchedOperations } from './built/core-endpoints.js';
import { closeRunFolder } from './built/temp-folders.js';

/** Stops what global-setup started. Throws if all files of `npm test` ran and some operation was not called by them. */
export default async function globalTeardown() {
  try {
    await globalThis.testDatabase?.stop();
    const untouched = untouchedOperations() ?? [];
    if (untouched.length > 0) {
      throw new Error(`no test file of npm test calls ${untouched.join(', ')} with success`);
    }
  } finally {
    closeRunFolder();
  }
}
