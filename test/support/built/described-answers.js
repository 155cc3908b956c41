import { Buffer } from 'node:buffer';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerFaults } from './answer-faults.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Below the folder of the run: a line for each way in which an answer differs from `openapi.json`. */
const NOTES = 'answers.jsonl';
/** A longer body is not read. */
const MAX_BODY_BYTES = 1024 * 1024;
/** A stream of more writes is not read. */
const MAX_CHUNKS = 2_000;
/** Only answers of a gateway have it. */
const GATEWAY_HEADER = 'x-gateway-execution-id';
const TEXT = /^(application\/json|text\/)/;

const notesPath = () => join(process.env.TEST_FOLDERS ?? '', NOTES);

/**
 * From now on, holds each answer of a gateway of this process against `openapi.json`: its status, headers, content type, body
 * and error code. What differs is noted, once for a test file. `fileOf` answers for which test file.
 */
export function noteUndescribed(fileOf) {
  const noted = new Set();
  const bodies = new WeakMap();
  subscribe('http.server.request.start', ({ response }) =>
    bodies.set(response, keptBody(response)),
  );
  subscribe('http.server.response.finish', ({ request, response }) => {
    if (!process.env.TEST_FOLDERS || !response.hasHeader(GATEWAY_HEADER)) return;
    const answer = {
      method: request.method,
      path: (request.originalUrl ?? request.url).split('?', 1)[0],
      status: response.statusCode,
      headers: response.getHeaders(),
      body: bodies.get(response)?.(),
    };
    for (const fault of faultsOf(answer)) {
      const line = `${JSON.stringify({ file: relative(ROOT, fileOf()), fault })}\n`;
      if (noted.has(line)) continue;
      noted.add(line);
      appendFileSync(notesPath(), line);
    }
  });
}

/** Tasks of a kind that only a test has are not described. A check that fails is a fault, for a subscriber must not throw. */
function faultsOf(answer) {
  const isUnknown = process.env.TASKS_OF_TEST_KIND && answer.body?.includes('"object":"task"');
  try {
    return answerFaults(isUnknown ? { ...answer, body: undefined } : answer);
  } catch (error) {
    return [`${answer.method} ${answer.path} ${answer.status}: ${String(error)}`];
  }
}

/** How the answers of the run differ from the document, each with a test file that got such an answer. */
export function undescribedAnswers() {
  if (!existsSync(notesPath())) return [];
  const lines = readFileSync(notesPath(), 'utf8').trim().split('\n');
  const files = new Map(
    lines.map((line) => JSON.parse(line)).map(({ file, fault }) => [fault, file]),
  );
  return [...files].map(([fault, file]) => `${fault} (${file})`).sort();
}

/** Keeps what is written to the response; answers the text, or undefined where it is long or no text. */
function keptBody(response) {
  const chunks = [];
  let bytes = 0;
  let isKept = true;
  const keep = (chunk, encoding) => {
    if (!isKept || chunk === undefined || chunk === null || typeof chunk === 'function') return;
    const type = response.getHeader('content-type');
    chunks.push(Buffer.from(chunk, typeof encoding === 'string' ? encoding : undefined));
    bytes += chunks.at(-1).length;
    isKept =
      bytes <= MAX_BODY_BYTES &&
      chunks.length <= MAX_CHUNKS &&
      (type === undefined || TEXT.test(String(type)));
    if (!isKept) chunks.length = 0;
  };
  // A long body that `end` was called with is written in pieces afterwards, which are kept already.
  let isWhole = false;
  for (const name of ['write', 'end']) {
    response[name] = function (...args) {
      if (!isWhole) keep(...args);
      isWhole ||= name === 'end';
      return Object.getPrototypeOf(this)[name].apply(this, args);
    };
  }
  return () => (isKept ? Buffer.concat(chunks).toString() : undefined);
}
