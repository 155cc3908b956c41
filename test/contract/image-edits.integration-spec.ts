import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { ImageEditCommand } from '../../src/providers/ports/image.port.js';
import { sentForm } from './form-data.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/images/edits` of OpenAI's and of `generateContent` of Gemini's public API reference. */
const folder = mkdtempSync(join(tmpdir(), 'image-edits-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const bytes = Buffer.alloc(200_000, 3);
const fileOf = (filename: string, sizeBytes = bytes.length) => {
  const path = join(folder, filename);
  writeFileSync(path, bytes);
  return { path, sizeBytes, filename, contentType: 'image/png' };
};
const [one, two, mask] = [fileOf('image-1.png'), fileOf('image-2.png'), fileOf('mask-1.png')];
const base64 = Buffer.alloc(6_000, 7).toString('base64');
const json = (value: object, result: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
  result,
});

const openAiEdit =
  (command: ImageEditCommand): PortContract['run'] =>
  (access, context) =>
    openAiPorts(access).image!.editImage(command, context);
const expectForm =
  (fields: Record<string, string>, fileFields: readonly string[]): PortContract['expectRequest'] =>
  async (request) => {
    expect([request.method, request.url]).toEqual(['POST', '/images/edits']);
    expect(request.headers['content-length']).toBe(`${request.body.length}`);
    const form = await sentForm(request);
    expect(form.fields).toEqual({ model: 'upstream-model', ...fields });
    expect(form.fileFields).toEqual(fileFields);
    expect(form.file).toMatchObject({ contentType: 'image/png' });
    expect(form.file!.bytes.equals(bytes)).toBe(true);
  };
const drawn = { created: 1, data: [{ b64_json: base64 }] };

describePortContract('OpenAI image edits', {
  run: openAiEdit({ prompt: 'a cat', images: [one] }),
  good: json(drawn, { images: [{ base64 }], providerRequestId: null }),
  expectRequest: expectForm({ prompt: 'a cat', n: '1' }, ['image']),
});

describeRequest('OpenAI image edits of several images with all choices', {
  run: openAiEdit({
    prompt: 'a cat',
    images: [one, two],
    mask,
    count: 2,
    size: '1024x1024',
    quality: 'high',
    background: 'transparent',
    outputFormat: 'webp',
    outputCompression: 50,
  }),
  good: json(
    { data: [{ b64_json: base64 }, { b64_json: base64 }, { b64_json: base64 }] },
    { images: [{ base64 }, { base64 }], providerRequestId: null },
  ),
  expectRequest: expectForm(
    {
      prompt: 'a cat',
      n: '2',
      size: '1024x1024',
      quality: 'high',
      background: 'transparent',
      output_format: 'webp',
      output_compression: '50',
    },
    ['image[]', 'image[]', 'mask'],
  ),
});

const answer = {
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] }, index: 0 },
  ],
  responseId: 'r1',
};
const geminiEdit =
  (command: ImageEditCommand): PortContract['run'] =>
  (access, context) =>
    geminiPorts(access).image!.editImage(command, context);

describeRequest('Gemini image edits', {
  run: geminiEdit({ prompt: 'a cat', images: [one, two] }),
  good: json(answer, { images: [{ base64 }], providerRequestId: 'r1' }),
  expectRequest: (request) => {
    expect(request.url).toBe('/models/upstream-model:generateContent');
    const inlineData = { mimeType: 'image/png', data: bytes.toString('base64') };
    expect(JSON.parse(request.body.toString())).toEqual({
      contents: [{ role: 'user', parts: [{ inlineData }, { inlineData }, { text: 'a cat' }] }],
      generationConfig: { responseModalities: ['IMAGE'] },
    });
  },
});

describe('what Gemini cannot do', () => {
  const access = { id: 'acme', baseUrl: 'http://127.0.0.1:9', apiKey: 'k' } as Parameters<
    typeof geminiPorts
  >[0];
  const context = { upstreamModel: 'm', signal: new AbortController().signal };

  it.each([
    ['a mask', { images: [one], mask }, 'mask_not_supported'],
    ['images above its limit', { images: [fileOf('a.png', 15_000_000)] }, 'images_too_large'],
  ])('is refused before it is sent: %s', async (_what, more, upstreamCode) => {
    const edit = geminiPorts(access).image!.editImage({ prompt: 'a cat', ...more }, context);
    await expect(edit).rejects.toMatchObject({ kind: 'rejected', sent: false, upstreamCode });
  });
});
