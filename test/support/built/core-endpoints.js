import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Below the folder of the run: a line for each test file that began, and for each operation that was answered for it. */
const NOTES = 'operations.jsonl';

const notesPath = () => join(process.env.TEST_FOLDERS ?? '', NOTES);
const note = (line) =>
  process.env.TEST_FOLDERS && appendFileSync(notesPath(), `${JSON.stringify(line)}\n`);

/** Notes that a test file has begun. */
export function noteFile(testPath) {
  note({ file: relative(ROOT, testPath) });
}

/**
 * From now on, notes each operation that a gateway of this process answers with success, by the route that answered: a
 * refusal of a guard, or the answer of another server of the test, does not count. `fileOf` answers for which test file.
 */
export function noteOperations(fileOf) {
  const noted = new Set();
  subscribe('http.server.response.finish', ({ request, response }) => {
    const path = request.route?.path;
    if (typeof path !== 'string' || response.statusCode >= 400) return;
    const line = { file: relative(ROOT, fileOf()), operation: nameOf(request.method, path) };
    const key = JSON.stringify(line);
    if (noted.has(key)) return;
    noted.add(key);
    note(line);
  });
}

/**
 * The operations of `openapi.json` that no test file of the core has called with success. Undefined where not all of these
 * files ran.
 */
export function untouchedOperations() {
  if (!existsSync(notesPath())) return undefined;
  const lines = readFileSync(notesPath(), 'utf8').trim().split('\n');
  const notes = lines.map((line) => JSON.parse(line));
  const ran = new Set(notes.map(({ file }) => file));
  const core = new Set(coreFiles());
  if ([...core].some((file) => !ran.has(file))) return undefined;
  const ofCore = notes.filter(({ file }) => core.has(file));
  const touched = new Set(ofCore.map(({ operation }) => operation));
  return operations().filter((operation) => !touched.has(operation));
}

/** The files that the script `test` of the package runs of those that talk to a gateway. */
export function coreFiles() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const isLeft = new RegExp(/--testPathIgnorePatterns '([^']+)'/.exec(scripts.test)[1]);
  return ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(folder, file)),
    )
    .filter((file) => file.endsWith('.e2e-spec.ts') && !isLeft.test(`/${file}`));
}

function operations() {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => nameOf(method, path)),
  );
}

/** `GET /v1/tasks/{}`, whatever the parameters are called. */
function nameOf(method, path) {
  return `${method.toUpperCase()} ${path.split('#', 1)[0].replaceAll(/\{\w+\}|:\w+/g, '{}')}`;
}
