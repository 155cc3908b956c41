import type { OnFigures, UpstreamTerms } from '../ports/attempt.js';
import type { AudioFormat, ProviderAudio } from '../ports/audio.port.js';
import { sniffAudio } from '../http/audio-sniff.js';
import type { ProviderHttp } from '../http/provider-http.js';
import type { RequestBody } from '../http/request-body.js';
import type { UpstreamTimeoutName } from '../http/upstream-timeouts.js';

const OUTPUT_FORMATS: Readonly<Record<AudioFormat, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_128',
  pcm: 'pcm_24000',
  wav: 'wav_44100',
};

/** A request whose response is audio. */
export interface AudioRequest {
  readonly path: string;
  readonly body: RequestBody;
  readonly format: AudioFormat;
  readonly timeout?: UpstreamTimeoutName;
  readonly terms?: UpstreamTerms | undefined;
  readonly onFigures?: OnFigures | undefined;
  readonly signal: AbortSignal;
}

/** `path` with the query parameter for our encoding of the format. */
export function withOutputFormat(path: string, format: AudioFormat): string {
  return `${path}?output_format=${OUTPUT_FORMATS[format]}`;
}

/** Posts the request and waits for the first bytes of audio in the requested format. Any other response is unusable. */
export async function requestAudio(
  http: ProviderHttp,
  request: AudioRequest,
): Promise<ProviderAudio> {
  const { path, body, format, signal, terms, onFigures, timeout = 'audio' } = request;
  const answer = await http.request({
    method: 'POST',
    path,
    body,
    headers: { accept: 'audio/*' },
    timeout,
    signal,
    terms,
    onFigures,
  });
  if (!(await sniffAudio(answer.body, format))) throw await http.noFile(answer, 'not_audio');
  return { body: answer.body, providerRequestId: answer.providerRequestId };
}
