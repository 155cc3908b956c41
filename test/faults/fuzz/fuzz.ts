import { longRun } from '../../support/long-run.js';

/**
 * Runs of damaged input, against a built gateway in a process of its own: what callers send, or with `--vendors` what vendors of
 * files answer. Each program has options of its own.
 */
await longRun(async () => {
  if (process.argv.includes('--vendors')) return (await import('./fuzz-vendors.js')).fuzzVendors;
  return (await import('./fuzz-requests.js')).fuzzRequests;
});
