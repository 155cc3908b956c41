import assert from 'node:assert/strict';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { carriesError } from '../http/error-facts.js';
import { givenMp3 } from '../http/given-file.js';
import { asRequestId, textAt } from '../http/json-fields.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { CompositionCommand, CompositionPort, ProviderAudio } from '../ports/audio.port.js';

const MP3 = { format: 'mp3', sample_rate: 44_100, bitrate: 128_000 };
/** The answer has no audio, which an answer in hex would have. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_VALUES = 1_000;
/** `data.status` of a song that is not yet made. */
const IN_PROGRESS = 1;

/** A song that the vendor has made; without a URL it cannot be fetched. */
interface MadeSong {
  readonly url: string | null;
  readonly providerRequestId: string | null;
}

/**
 * Songs over MiniMax's wire protocol, which answers with their URL once they are made. The vendor decides their length. Without
 * lyrics it writes them, unless there is no singing.
 */
export class MiniMaxMusic implements CompositionPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly download: BoundedDownload | undefined,
  ) {}

  async compose(command: CompositionCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { download, http } = this;
    // A song that cannot be fetched is not asked for.
    assert(download && command.format === 'mp3', 'songs are MP3 files that are fetched');
    const { url, providerRequestId } = await this.made(command, context);
    // From here on it has its cost, whether it arrives or not.
    context.owner?.onMade?.({ unit: 'request', quantity: 1 });
    if (url === null) throw http.lostWork('no_url', providerRequestId);
    const file = { url, providerRequestId, signal: context.signal };
    return { body: await givenMp3({ download, http }, file), providerRequestId };
  }

  private async made(command: CompositionCommand, context: AttemptContext): Promise<MadeSong> {
    const body = jsonBody(fieldsOf(command, context.upstreamModel));
    try {
      return await this.http.requestJson(
        { method: 'POST', path: '/v1/music_generation', body, timeout: 'composition', context },
        MAX_ANSWER_BYTES,
        toSong,
        MAX_VALUES,
      );
    } catch (error) {
      if (error instanceof ProviderError && mayBeMade(error)) error.isPartial = true;
      throw error;
    }
  }
}

function fieldsOf(
  { prompt, lyrics, instrumental }: CompositionCommand,
  upstreamModel: string,
): object {
  return {
    model: upstreamModel,
    prompt,
    lyrics,
    is_instrumental: instrumental,
    lyrics_optimizer: lyrics === undefined && instrumental !== true ? true : undefined,
    audio_setting: MP3,
    output_format: 'url',
  };
}

/** Whether the vendor may have made the song: its answer is lost, or a proxy's. The vendor's own words have a number. */
function mayBeMade({ kind, sent, upstreamCode = '' }: ProviderError): boolean {
  return sent && kind === 'http_error' && !/^\d+$/.test(upstreamCode);
}

/** Undefined for an answer that does not say that a song was made. */
function toSong(json: JsonObject, providerRequestId: string | null): MadeSong | undefined {
  const { base_resp: state, data, trace_id: traceId } = json;
  const text = isJsonObject(data) ? textAt(data, 'audio') : null;
  const url = text === '' ? null : text;
  if (carriesError(json) || (url === null && !isJsonObject(state))) return undefined;
  const isInProgress = url === null && isJsonObject(data) && data.status === IN_PROGRESS;
  if (isInProgress) return undefined;
  return { url, providerRequestId: asRequestId(traceId) ?? providerRequestId };
}
