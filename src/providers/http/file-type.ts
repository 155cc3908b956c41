import type { UpstreamResponse } from './upstream-request.js';

/** Content types of responses that contain a message instead of a file. */
const MESSAGE = /^\s*(text\/|application\/(json|xml|xhtml))/i;

/** What a response says about its file; null where it says nothing. */
export function contentTypeOf({ headers }: UpstreamResponse): string | null {
  const type = headers['content-type'];
  return typeof type === 'string' ? type : null;
}

/** Whether a response with this content type is a message instead of a file. */
export function isMessageType(contentType: string | null): boolean {
  return contentType !== null && MESSAGE.test(contentType);
}
