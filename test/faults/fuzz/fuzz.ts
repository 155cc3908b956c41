/**
 * Runs of damaged input, against a built gateway in a process of its own: what callers send, or with `--vendors` what vendors of
 * files answer. Each program has options of its own.
 */
await (process.argv.includes('--vendors')
  ? import('./fuzz-vendors.js')
  : import('./fuzz-requests.js'));
