// Tries every client of this folder with BASE_URL and API_KEY, prints one line for each of its operations, and ends with 1 if
// one of them fails. An operation that is known to fail is marked with the reason (`notYet`); it fails the suite when it works,
// so that no mark outlives its reason.
import { agents } from './clients/agents.js';
import { aiSdk } from './clients/ai-sdk.js';
import { anthropic } from './clients/anthropic.js';
import { compatible } from './clients/ai-sdk-compatible.js';
import { langchain } from './clients/langchain.js';
import { llamaindex } from './clients/llamaindex.js';
import { openai } from './clients/openai.js';
import { openrouter } from './clients/openrouter.js';
import { tanstack } from './clients/tanstack.js';

const CLIENTS = [
  openai,
  aiSdk,
  compatible,
  agents,
  langchain,
  llamaindex,
  tanstack,
  openrouter,
  anthropic,
];
/** How long one operation may take; a video and a busy machine need the most. */
const PATIENCE_MS = 120_000;

const { BASE_URL: baseURL, API_KEY: apiKey } = process.env;
const [, , wanted = ''] = process.argv;

/** An operation that does not work with this gateway, and why. */
const markOf = (operation) => (typeof operation === 'function' ? undefined : operation.reason);

async function outcomeOf(operation) {
  const run = typeof operation === 'function' ? operation : operation.run;
  const deadline = new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer after ${PATIENCE_MS} ms`)), PATIENCE_MS).unref();
  });
  try {
    await Promise.race([run(), deadline]);
    return { isOk: true };
  } catch (error) {
    return { isOk: false, error };
  }
}

const oneLine = (error) =>
  String(error?.message ?? error)
    .replace(/\s+/g, ' ')
    .slice(0, 200);

let failed = 0;
for (const client of CLIENTS) {
  if (!client.name.includes(wanted)) continue;
  for (const [name, operation] of Object.entries(client.operations({ baseURL, apiKey }))) {
    const reason = markOf(operation);
    const { isOk, error } = await outcomeOf(operation);
    if (isOk === (reason !== undefined)) failed += 1;
    const word = isOk ? (reason ? 'FAIL' : 'ok') : reason ? 'not yet' : 'FAIL';
    const why = isOk
      ? reason && `it works now: take the mark away (${reason})`
      : (reason ?? oneLine(error));
    console.log(
      [word.padEnd(8), client.name.padEnd(26), name, why && `- ${why}`].filter(Boolean).join(' '),
    );
    if (!isOk && !reason) console.error(error);
  }
}
console.log(
  failed === 0 ? 'every client works as docs/guides/clients.md says' : `${failed} failed`,
);
process.exit(failed === 0 ? 0 : 1);
