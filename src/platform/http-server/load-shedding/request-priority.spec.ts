import type { IncomingMessage } from 'node:http';
import { expect, it } from '@jest/globals';
import { requestPriorityOf } from './load-shedder.js';

it.each([
  ['POST', '/v1/audio/speech', 'calls'],
  ['POST', 'http://gateway/v1/audio/speech', 'calls'],
  ['POST', 'http://gateway/admin/accounts', 'calls'],
  ['POST', '//v1/audio/speech', 'calls'],
  ['DELETE', '/v1/videos/video_1', 'calls'],
  ['POST', '/administrator', 'calls'],
  ['GET', '/v1/models', 'reads'],
  ['HEAD', '/v1/models', 'reads'],
  ['OPTIONS', '/v1/audio/speech', 'others'],
  ['GET', '/health/live', 'others'],
  ['GET', '/metrics', 'others'],
  ['POST', '/admin/accounts?x', 'others'],
] as const)('%s %s is in the lane of %s', (method, url, lane) => {
  expect(requestPriorityOf({ method, url } as IncomingMessage)).toBe(lane);
});
