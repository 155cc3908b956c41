import { expect } from '@jest/globals';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { describePortContract, describeRequest } from './port-contract.js';
import type { SeenRequest } from '../support/stub-upstream.js';

/** The wire is that of `models.generateContent` of Google's public API reference. */
const expectJson = (path: string, body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', path]);
  expect(request.headers).toMatchObject({ 'x-goog-api-key': 'sk-upstream-secret-4711' });
  expect(JSON.parse(request.body.toString())).toEqual(body);
};
const json = (answer: object) => ({
  type: 'application/json; charset=UTF-8',
  body: Buffer.from(JSON.stringify(answer)),
});

const base64 = Buffer.alloc(3_000_000, 7).toString('base64');
const drawn = {
  candidates: [
    {
      content: {
        parts: [
          { text: 'Here it is.' },
          { inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' }, thought: true },
          { inlineData: { mimeType: 'image/png', data: base64 } },
        ],
        role: 'model',
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 1290, totalTokenCount: 1294 },
  modelVersion: 'upstream-model',
  responseId: 'r1',
};
const contents = [{ role: 'user', parts: [{ text: 'a cat' }] }];

describePortContract('Gemini images', {
  run: (access, context) =>
    geminiPorts(access).image!.generateImage({ prompt: 'a cat', size: '1536x1024' }, context),
  good: { ...json(drawn), result: { images: [{ base64 }], providerRequestId: 'r1' } },
  expectRequest: expectJson('/models/upstream-model:generateContent', {
    contents,
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: { aspectRatio: '3:2' },
    },
  }),
});

describeRequest('Gemini images in a large size', {
  run: (access, context) =>
    geminiPorts(access).image!.generateImage({ prompt: 'a cat', size: '2048x2048' }, context),
  good: { ...json(drawn), result: { images: [{ base64 }], providerRequestId: 'r1' } },
  expectRequest: expectJson('/models/upstream-model:generateContent', {
    contents,
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: { aspectRatio: '1:1', imageSize: '2K' },
    },
  }),
});

describeRequest('Gemini images of any size', {
  run: (access, context) => geminiPorts(access).image!.generateImage({ prompt: 'a cat' }, context),
  good: { ...json(drawn), result: { images: [{ base64 }], providerRequestId: 'r1' } },
  expectRequest: expectJson('/models/upstream-model:generateContent', {
    contents,
    generationConfig: { responseModalities: ['IMAGE'] },
  }),
});
