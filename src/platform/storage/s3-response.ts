import { buffer } from 'node:stream/consumers';
import { addAbortSignal, type Readable } from 'node:stream';

/** Far more than the longest response of S3 about an object or a failure. */
const MAX_BYTES = 1_048_576;

/**
 * Reads responses of S3 that are not files for the AWS client, which reads them without a limit. Fails above 1 MiB, and
 * after `timeoutMs`.
 */
export function responseCollector(timeoutMs: number): (response: Readable) => Promise<Buffer> {
  return (response) => buffer(bounded(addAbortSignal(AbortSignal.timeout(timeoutMs), response)));
}

async function* bounded(response: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`S3 answered with more than ${MAX_BYTES} bytes`);
    yield chunk;
  }
}
