import type { VideoContent } from '../ports/job.port.js';
import type { ProviderHttp } from './provider-http.js';
import { contentTypeOf, isMessageType } from './response-body.js';
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
  const contentType = contentTypeOf(response);
  if (isMessageType(contentType)) throw await http.noFile(response, 'no_video');
  return { body: response.body, contentType };
}
