import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ADMIN_SCHEME } from '../../admin/operator-endpoint.decorator.js';
import { ADMIN_TASK, ADMIN_VIDEO_TASK } from '../../admin/views/admin-task.view.js';
import { API_KEY_SCHEME } from '../../auth/api-key-auth.decorator.js';
import { ERROR_EXAMPLES, ERROR_SCHEMA } from '../../common/errors/error-responses.decorator.js';
import { GATEWAY_VERSION } from '../../common/version.js';
import { METRICS_SCHEME } from '../../platform/observability/metrics.controller.js';
import { AUDIO_TASK_RESULT } from '../../tasks/task.view.js';
import {
  describeDefaults,
  operationsOf,
  shareListItems,
  titleByModels,
} from './document-bodies.js';
import { describeVideoErrors, shareErrors } from './document-errors.js';
import { addResponseExamples } from './document-examples.js';
import { describeHeaders } from './document-headers.js';
import { describePathIds } from './document-parameters.js';
import { addCodeSamples } from './document-samples.js';
import { separateStreams, setTasksAside } from './document-streams.js';

/** The groups of operations in the order of the page: callers first, operators last. */
const DOCUMENT_TAGS: readonly { readonly name: string; readonly description: string }[] = [
  {
    name: 'chat',
    description: 'Text, one answer or a stream; takes tools, images and JSON schemas',
  },
  {
    name: 'audio',
    description:
      'Speech, dialogue, transcription, alignment, voice change, isolation, sound effects, music and dubbing',
  },
  { name: 'embeddings', description: 'Vectors of texts, for search and comparison' },
  { name: 'images', description: 'Images from text' },
  { name: 'music', description: 'Songs and tunes; each call starts a task' },
  { name: 'videos', description: 'Videos from text and images; each call starts a task' },
  { name: 'tasks', description: 'What became of songs, videos and dubs, their files and webhooks' },
  { name: 'models', description: 'Models with prices, limits and fields; voices' },
  {
    name: 'account',
    description: 'Balance, keys and calls of the account that the key belongs to',
  },
  { name: 'admin', description: 'For the operator: accounts, money, keys, records' },
  { name: 'health', description: 'For the operator: probes and metrics' },
];

const DESCRIPTION = [
  'One HTTP API, one key, one balance in front of many AI providers.',
  'Each request is priced before the provider is called, held, then settled or released exactly once.',
  'Amounts are micro-USD (1 USD = 1,000,000). Branch on the HTTP status and `error.code`.',
].join(' ');

const API_KEY_HELP =
  'Your API key, `sk-…`. Whoever runs this gateway makes one with `npx shim key:create ACCOUNT` (in a container: `shim key:create ACCOUNT`). The first start on a computer prints a demo key; `npx shim demo-key` makes another.';
const ADMIN_HELP = 'For the operator: the value of the setting `ADMIN_TOKEN`.';
const METRICS_HELP = 'For the operator: the value of the setting `METRICS_TOKEN`.';

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description }) as const;

/** The OpenAPI document, generated from the controllers: the name of a handler is the id of its operation. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Shim')
    .setDescription(DESCRIPTION)
    .setVersion(GATEWAY_VERSION)
    .setOpenAPIVersion('3.0.3')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'This gateway')
    .addSecurity(API_KEY_SCHEME, bearer(API_KEY_HELP))
    .addSecurity(ADMIN_SCHEME, bearer(ADMIN_HELP))
    .addSecurity(METRICS_SCHEME, bearer(METRICS_HELP));
  for (const { name, description } of DOCUMENT_TAGS) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
  describeVideoErrors(document);
  addSharedParts(document);
  describeDefaults(document);
  titleByModels(document);
  describePathIds(document);
  shareListItems(document);
  separateStreams(document);
  describeHeaders(document);
  addResponseExamples(document);
  addCodeSamples(document);
  setTasksAside(document);
  shareErrors(document);
  return document;
}

function addSharedParts(document: OpenAPIObject): void {
  const { components = {} } = document;
  document.components = {
    ...components,
    schemas: {
      Error: ERROR_SCHEMA,
      AdminVideoTaskView: ADMIN_VIDEO_TASK,
      ...components.schemas,
      AdminTaskView: ADMIN_TASK,
      AudioTaskResult: AUDIO_TASK_RESULT,
    },
    examples: usedExamples(document),
  };
  for (const operation of operationsOf(document)) operation.security ??= [];
}

function usedExamples({ paths }: OpenAPIObject) {
  const text = JSON.stringify(paths);
  const used = Object.entries(ERROR_EXAMPLES).filter(([code]) =>
    text.includes(`"#/components/examples/${code}"`),
  );
  return Object.fromEntries(used);
}
