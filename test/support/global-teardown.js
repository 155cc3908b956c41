import { untouchedOperations } from './built/core-endpoints.js';
import { undescribedAnswers } from './built/described-answers.js';
import { closeRunFolder } from './built/temp-folders.js';

/**
 * Stops what global-setup started. Throws if a gateway gave an answer that `openapi.json` does not describe, or if all files of
 * `npm test` ran and some operation was not called by them.
 */
export default async function globalTeardown() {
  try {
    await globalThis.testDatabase?.stop();
    const untouched = untouchedOperations() ?? [];
    if (untouched.length > 0) {
      throw new Error(`no test file of npm test calls ${untouched.join(', ')} with success`);
    }
    const undescribed = undescribedAnswers();
    if (undescribed.length > 0) {
      throw new Error(`openapi.json does not describe these answers:\n${undescribed.join('\n')}`);
    }
  } finally {
    closeRunFolder();
  }
}
