import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { PROCESS_TEST_TIMEOUT_MS, runProgram } from '../support/process.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
}
interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: object; readonly examples?: object }>
    >;
  };
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, object>>;
}
interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'];

const textOf = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(textOf('package.json')) as { readonly version: string };
const document = JSON.parse(textOf('openapi.json')) as OpenApi;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** The response, after following its reference. */
function resolved(answer: Answer): Answer {
  const name = answer.$ref?.split('/').at(-1) ?? '';
  return (document.components.responses?.[name] as Answer | undefined) ?? answer;
}

/** Every value of this name, at any depth. */
function everyValue(within: unknown, name: string): unknown[] {
  if (typeof within !== 'object' || within === null) return [];
  return Object.entries(within).flatMap(([key, value]) => [
    ...(key === name && typeof value === 'string' ? [value] : []),
    ...everyValue(value, name),
  ]);
}

/** Whether a body of this schema has a field of bytes. */
function takesFile(schema: object): boolean {
  const [ref] = everyValue(schema, '$ref');
  const named = document.components.schemas?.[String(ref).split('/').at(-1) ?? ''];
  return everyValue(named, 'format').includes('binary');
}

describe('the OpenAPI document as committed', () => {
  it(
    'is what the controllers say, without a path, a field or a word more or less',
    async () => {
      const check = runProgram(['npm', 'run', '--silent', 'openapi', '--', '--check']);
      expect([await check.exited, check.stderr()]).toEqual([{ code: 0, signal: null }, '']);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it('is version 3 with a title, and describes paths by known methods', () => {
    expect(document.openapi).toMatch(/^3\.\d\.\d$/);
    expect(document.info).toMatchObject({ title: 'Shim', version });
    expect(document.servers).toEqual([{ url: '/', description: 'This gateway' }]);
    expect(operations.filter(({ method }) => !METHODS.includes(method))).toEqual([]);
    expect(Object.keys(document.paths).filter((path) => !path.startsWith('/'))).toEqual([]);
  });

  it('gives every operation an id of its own', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain('streamChatCompletion');
    expect(ids.filter((id) => !/^[a-z]+[A-Z][A-Za-z]+$/.test(id))).toEqual([]);
  });

  it.each([
    ['post', '/v1/chat/completions', 'createChatCompletion'],
    ['post', '/v1/audio/speech', 'createSpeech'],
    ['post', '/v1/audio/transcriptions', 'createTranscription'],
    ['post', '/v1/images/generations', 'createImage'],
    ['post', '/v1/images/edits', 'createImageEdit'],
    ['get', '/v1/models', 'listModels'],
    ['get', '/v1/models/{id}', 'retrieveModel'],
    ['post', '/v1/videos', 'createVideo'],
  ])('names %s %s as OpenAI does: %s', (method, path, id) => {
    expect(document.paths[path]?.[method]?.operationId).toBe(id);
  });

  it('orders its tags from callers to operators, each with a description, and uses no other', () => {
    const names = document.tags.map(({ name }) => name);
    expect(names[0]).toBe('chat');
    expect(names.slice(-2)).toEqual(['admin', 'health']);
    expect(document.tags.filter(({ description }) => description === '')).toEqual([]);
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(names));
  });

  it('has one schema of errors, whose codes are an enum', () => {
    for (const { path, operation } of operations) {
      for (const [status, answer] of Object.entries(operation.responses)) {
        const schema = resolved(answer).content?.['application/json']?.schema;
        if (Number(status) >= 400 && !path.startsWith('/health/'))
          expect([path, status, schema]).toEqual([
            path,
            status,
            { $ref: '#/components/schemas/Error' },
          ]);
      }
    }
    expect(document.components.schemas?.Error).toMatchObject({
      properties: {
        error: { properties: { code: { enum: expect.arrayContaining(['invalid_token']) } } },
      },
    });
  });

  it('documents 404 wherever a path holds an id', () => {
    const withId = operations.filter(({ path }) => path.includes('{'));
    const without = withId.filter(({ operation }) => operation.responses['404'] === undefined);
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  it('offers only a form wherever a file may be sent, and describes the JSON body in prose', () => {
    const withFile = operations.filter(({ operation: { requestBody } }) =>
      Object.values(requestBody?.content ?? {}).some(({ schema }) => takesFile(schema)),
    );
    expect(withFile.map(({ path }) => path).sort()).toEqual([
      '/v1/audio/alignment',
      '/v1/audio/isolation',
      '/v1/audio/transcriptions',
      '/v1/audio/voice-changer',
      '/v1/images/edits',
    ]);
    for (const { path, operation } of withFile) {
      const types = Object.keys(operation.requestBody?.content ?? {});
      expect([path, types]).toEqual([path, ['multipart/form-data']]);
      // Nothing but a form can have a picture.
      if (path === '/v1/images/edits') continue;
      expect(operation.description).toContain('`application/json`');
    }
  });

  it('has hand-written examples of every body', () => {
    const without = operations.filter(({ operation }) =>
      Object.values(operation.requestBody?.content ?? {}).some(
        ({ examples = {} }) => Object.keys(examples).length === 0,
      ),
    );
    expect(without.map(({ path }) => path)).toEqual([]);
    const chat = document.paths['/v1/chat/completions']?.post?.requestBody?.content;
    expect(Object.keys(chat?.['application/json']?.examples ?? {})).toEqual([
      'minimal',
      'stream',
      'tools',
      'JSON schema',
      'image',
    ]);
  });

  it('refers only to what it has', () => {
    const missing = everyValue(document, '$ref').filter((ref) => {
      const [root, ...path] = String(ref).split('/');
      const target = path.reduce<unknown>(
        (within, name) => (within as Readonly<Record<string, unknown>> | undefined)?.[name],
        document,
      );
      return root !== '#' || path.length === 0 || target === undefined;
    });
    expect(missing).toEqual([]);
  });

  it('names the parameters of its paths, no more and no fewer', () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = (operation.parameters ?? []).filter((row) => row.in === 'path');
      expect([path, named.map(({ name }) => name).sort()]).toEqual([path, inPath.sort()]);
    }
  });

  it('authorizes by schemes it defines, and leaves only health open', () => {
    const schemes = Object.keys(document.components.securitySchemes ?? {});
    for (const { path, operation } of operations) {
      const used = (operation.security ?? []).flatMap((row) => Object.keys(row));
      const isOpen = path.startsWith('/health/');
      expect([path, used.length]).toEqual([path, isOpen ? 0 : 1]);
      for (const name of used) expect(schemes).toContain(name);
    }
  });

  it('describes the success and the body of every call that has one', () => {
    for (const { path, method, operation } of operations) {
      const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
      expect([path, successes.length > 0]).toEqual([path, true]);
      const media = Object.values(operation.requestBody?.content ?? {});
      const takesBody =
        method === 'post' && /^\/v1(?!.*\/(cancel|redeliver|content-link|test)$)/.test(path);
      if (takesBody) expect([path, media.length > 0]).toEqual([path, true]);
      for (const { schema } of media) expect([path, schema]).toEqual([path, expect.any(Object)]);
    }
  });

  it.each([
    ['/v1/audio/dubbing', 'post', '202', ['Location', 'x-gateway-task-id']],
    ['/v1/music/generations', 'post', '202', ['Location', 'x-gateway-task-id']],
    ['/v1/videos', 'post', '200', ['Location', 'x-gateway-task-id']],
    ['/v1/tasks/{id}', 'get', '200', ['Preference-Applied']],
    ['/v1/videos/{id}', 'get', '200', ['Preference-Applied', 'openai-poll-after-ms']],
  ])('names the headers of tasks: %s', (path, method, status, names) => {
    const { headers = {} } = document.paths[path]?.[method]?.responses[status] ?? {};
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(names));
  });

  it('gives every answer of the operator API a schema', () => {
    const without = operations
      .filter(({ path }) => path.startsWith('/admin'))
      .filter(({ operation: { responses } }) => {
        const [[status, answer] = ['', undefined]] = Object.entries(responses).filter(([code]) =>
          code.startsWith('2'),
        );
        return status !== '204' && answer?.content?.['application/json']?.schema === undefined;
      });
    expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });
});
