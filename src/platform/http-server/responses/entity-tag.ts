import { ApiResponse } from '@nestjs/swagger';

/** OpenAPI: the answer to a request whose `If-None-Match` names what the caller has already. */
export function NotModifiedResponse(): MethodDecorator {
  return ApiResponse({
    status: 304,
    description: 'What `If-None-Match` names is still current; without a body',
  });
}

/** Whether `If-None-Match` names the quoted tag. The comparison is weak, as RFC 9110 requires. */
export function namesEntity(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
