import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * A Jest reporter for `run-tests.js`: keeps the file named by `TEST_REPORT` up to date from the first test file on, so that it
 * tells what ran even when Jest is killed.
 */
export default class TestReport {
  #report = { running: [], failed: [], complete: false };

  onRunStart() {
    this.#write();
  }

  onTestFileStart({ path }) {
    this.#report.running.push(nameOf(path));
    this.#write();
  }

  onTestFileResult({ path }, { numFailingTests, testExecError, testResults }) {
    const file = nameOf(path);
    this.#report.running = this.#report.running.filter((other) => other !== file);
    if (numFailingTests > 0 || testExecError) {
      const failed = testResults.filter(({ status }) => status === 'failed');
      // Without a single result the file could not be loaded, or its process died.
      const broken = testResults.length === 0;
      this.#report.failed.push({ file, broken, tests: failed.map(({ fullName }) => fullName) });
    }
    this.#write();
  }

  onRunComplete(_contexts, { numTotalTestSuites, runExecError, testResults, wasInterrupted }) {
    this.#report.complete =
      !runExecError && !wasInterrupted && testResults.length === numTotalTestSuites;
    this.#write();
  }

  #write() {
    writeFileSync(process.env.TEST_REPORT, JSON.stringify(this.#report));
  }
}

function nameOf(path) {
  return relative(process.cwd(), path);
}
