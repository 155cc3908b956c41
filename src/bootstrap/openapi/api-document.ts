import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ADMIN_SCHEME } from '../../admin/operator-endpoint.decorator.js';
import { API_KEY_SCHEME } from '../../auth/api-key-auth.decorator.js';
import { ERROR_EXAMPLES, ERROR_SCHEMA } from '../../common/errors/error-responses.decorator.js';
import { GATEWAY_VERSION } from '../../common/version.js';
import { METRICS_SCHEME } from '../../platform/observability/metrics.controller.js';
import { DOCUMENT_TAGS } from './document-tags.js';
import { describeDefaults, operationsOf } from './document-bodies.js';
import { describeHeaders } from './document-headers.js';

const DESCRIPTION = [
  'One HTTP API, one key, one balance in front of many AI providers.',
  'Each request is priced before the provider is called, held, then settled or released exactly once.',
  'Amounts are micro-USD (1 USD = 1,000,000). Branch on the HTTP status and `error.code`.',
].join(' ');

/** The OpenAPI document, generated from the controllers: the name of a handler is the id of its operation. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Shim')
    .setDescription(DESCRIPTION)
    .setVersion(GATEWAY_VERSION)
    .setOpenAPIVersion('3.0.3')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'This gateway')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: 'API key `sk-…`' },
      API_KEY_SCHEME,
    )
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN' }, ADMIN_SCHEME)
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: 'METRICS_TOKEN' },
      METRICS_SCHEME,
    );
  for (const { name, description } of DOCUMENT_TAGS) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
  addSharedParts(document);
  describeDefaults(document);
  describeHeaders(document);
  return document;
}

function addSharedParts(document: OpenAPIObject): void {
  const { components = {} } = document;
  document.components = {
    ...components,
    schemas: { Error: ERROR_SCHEMA, ...components.schemas },
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
