import type { AudioFormat, ProviderAudio } from '../ports/audio.port.js';
import { sniffAudio } from './audio-sniff.js';
import type { ProviderHttp } from './provider-http.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Posts a request and waits for the first bytes of audio in the format. Any other response is unusable. */
export async function requestAudio(
  http: ProviderHttp,
  request: Pick<UpstreamRequest, 'path' | 'body' | 'timeout' | 'context'>,
  format: AudioFormat,
): Promise<ProviderAudio> {
  const headers = { accept: 'audio/*' };
  const answer = await http.request({ ...request, method: 'POST', headers });
  if (!(await sniffAudio(answer.body, format))) throw await http.noFile(answer, 'not_audio');
  return { body: answer.body, providerRequestId: answer.providerRequestId };
}
