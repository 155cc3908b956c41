// `npm start`: builds only when a source is newer than the last build, so that later starts take seconds, and starts the gateway.
import './require-node.js';
import { buildWhenStale } from './build-when-stale.js';
import { keepCompiled } from './keep-compiled.js';

const code = buildWhenStale();
if (code === 0) {
  keepCompiled();
  await import('../dist/main.js');
} else {
  process.exitCode = code;
}
