import assert from 'node:assert/strict';
import type { UnchargedQuantity } from '../../common/money/charge-basis.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { givenMp3 } from '../http/given-file.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext, RouteTerms } from '../ports/attempt.js';
import type { CompositionCommand, CompositionPort, ProviderAudio } from '../ports/audio.port.js';
import type { AwaitedJobs } from './awaited-jobs.js';
import type { VendorKey } from './vendor-key.js';
import type { VendorValues } from './vendor-template.js';

/** Music at a vendor that its file describes: one job makes a track, which is waited for, then streamed from its URL. */
export class AsyncJsonComposition implements CompositionPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly key: VendorKey,
    private readonly awaited: AwaitedJobs,
    private readonly download: BoundedDownload | undefined,
  ) {}

  /** The first URL of the result counts. Throws ProviderError: `rejected`, and nothing is sent, for another format than MP3. */
  async compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { download, http } = this;
    if (command.format !== 'mp3')
      throw http.refusal('format_not_taken', 'rejected', 'response_format');
    // A track that cannot be fetched is not asked for.
    assert(download, 'tracks are fetched');
    const quantity = quantityOf(command);
    const values = musicValuesOf(command, context);
    const { urls, requestId } = await this.awaited.made(values, () => quantity, context);
    const url = this.key.takenFrom(urls[0] ?? '');
    if (url === undefined) throw http.lostWork('bad_url', requestId);
    const file = { url, providerRequestId: requestId, signal: context.signal };
    return { body: await givenMp3({ download, http }, file), providerRequestId: requestId };
  }
}

/** A track without a length is sold by the song. */
const quantityOf = ({ durationSeconds }: CompositionCommand): UnchargedQuantity =>
  durationSeconds === undefined
    ? { unit: 'request', quantity: 1 }
    : { unit: 'second', quantity: durationSeconds };

/** The values of the fields that a body for music may name. */
export function musicValuesOf(
  { prompt, lyrics, instrumental, durationSeconds }: Omit<CompositionCommand, 'format'>,
  { upstreamModel }: RouteTerms,
): VendorValues {
  return { model: upstreamModel, prompt, lyrics, instrumental, seconds: durationSeconds };
}
