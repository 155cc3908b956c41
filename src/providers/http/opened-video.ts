import type { VideoContent } from '../ports/job.port.js';
import { ProviderError } from './provider-error.js';
import type { ProviderHttp } from './provider-http.js';
import { fileIn, isMessageType } from './response-body.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * The file of a finished video, or the URL to which the provider redirects us. Throws ProviderError, also for a text in the place of
 * a file.
 */
export async function openedVideo(
  http: ProviderHttp,
  request: Pick<UpstreamRequest, 'path' | 'origin' | 'headers' | 'context'>,
): Promise<VideoContent> {
  const response = await http.request({
    ...request,
    method: 'GET',
    timeout: 'download',
    mayRedirect: true,
  });
  if (response.redirectUrl !== undefined) {
    response.body.on('error', () => undefined).destroy();
    return { redirectUrl: response.redirectUrl };
  }
  const file = fileIn(response);
  if (isMessageType(file.contentType)) throw await http.noFile(response, 'no_video');
  return file;
}

/**
 * What the provider says of the file before it is fetched. A refusal of this question says nothing of the file, so it gets no status:
 * collecting is tried again.
 */
export async function orAskAgain<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.upstreamStatus === undefined) throw error;
    const { kind, upstreamStatus: _status, ...detail } = error;
    throw new ProviderError(kind, detail);
  }
}
