import { buffer } from 'node:stream/consumers';
import { addAbortSignal, type Readable } from 'node:stream';

/** Far more than S3 ever says about an object or a failure. */
const MAX_BYTES = 1_048_576;

/**
 * Reads answers of S3 that are no files for the AWS client, which reads them without a limit. Fails above 1 MiB, and after
 * `timeoutMs`.
 */
export function answerCollector(timeoutMs: number): (answer: Readable) => Promise<Buffer> {
  return (answer) => buffer(bounded(addAbortSignal(AbortSignal.timeout(timeoutMs), answer)));
}

async function* bounded(answer: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`S3 answered with more than ${MAX_BYTES} bytes`);
    yield chunk;
  }
}
