import type { ErrorCode } from '../../common/errors/error-table.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import type { ProviderHttp } from './provider-http.js';

/** How long the whole file may take. */
const FETCH_MS = 300_000;
/** What is given on at once, however small the pieces are in which it arrives. */
const BLOCK_BYTES = 64 * 1024;
/** Our own words for why there is no file: those of a download may name its host. */
const WORDS: Partial<Readonly<Record<ErrorCode, string>>> = {
  invalid_request: 'file_url_refused',
  audio_too_large: 'file_too_large',
};

/** A file that a provider has made and answered with its URL. */
interface GivenFile {
  readonly url: string;
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  /** Of the answer with the URL. */
  readonly providerRequestId: string | null;
}

/**
 * The bytes of the file as they arrive, in blocks, fetched through the guarded dialer and without our key. An aborted signal rejects with its
 * reason; every other failure is an answer that cannot be used, after the work was done. No error has the URL: it opens the file.
 */
export async function* givenFile(
  download: BoundedDownload,
  http: Pick<ProviderHttp, 'unusableAnswer'>,
  { url, limitBytes, signal, providerRequestId }: GivenFile,
): AsyncGenerator<Buffer, void> {
  try {
    const options = { limitBytes, limits: { totalMs: FETCH_MS }, signal };
    const { body } = await download.toStream(url, options);
    yield* blocksOf(body as AsyncIterable<Buffer>);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GatewayError)) throw error;
    throw http.unusableAnswer(WORDS[error.code] ?? 'file_not_fetched', providerRequestId);
  }
}

async function* blocksOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let block: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    block.push(piece);
    bytes += piece.length;
    if (bytes < BLOCK_BYTES) continue;
    yield Buffer.concat(block, bytes);
    block = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(block, bytes);
}
