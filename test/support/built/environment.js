import { createRequire } from 'node:module';
import { Logger } from '@nestjs/common';
import { TestEnvironment } from 'jest-environment-node';
import { noteFile, noteOperations } from './core-endpoints.js';
import { noteUndescribed } from './described-answers.js';
import { openFileFolder, remove } from './temp-folders.js';

let testPath = '';
noteOperations(() => testPath);
noteUndescribed(() => testPath);

/**
 * Where the modules of the build are those of the Jest worker: each is evaluated once per worker and not once per test file, which
 * costs more than a second of a processor for a whole gateway. Test files and test/support are evaluated anew for each file.
 *
 * `os.tmpdir()` is a folder of the test file's own, which is removed at its end with everything in it.
 */
export default class BuiltEnvironment extends TestEnvironment {
  #variables = { ...process.env };
  #folder;

  constructor(config, context) {
    super(config, context);
    ({ testPath } = context);
    noteFile(testPath);
    this.#folder = openFileFolder(testPath);
    process.env.TMPDIR = this.#folder;
    this.global.requireBuilt = createRequire(import.meta.url);
    // The metadata of classes that a test declares is read by the Nest of the worker.
    this.global.Reflect = Reflect;
    // So that those of a test are an `instanceof` in the build, and the other way round.
    Object.assign(this.global, { Date, Error, RangeError, SyntaxError, TypeError });
    // The build reads what a test sets.
    this.global.process.env = process.env;
    // What a former file has set does not stay; a test that reads the log sets its own.
    Logger.overrideLogger(false);
  }

  async teardown() {
    for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, this.#variables);
    remove(this.#folder);
    await super.teardown();
  }
}
