import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ADMIN_SCHEME } from '../admin/operator-endpoint.decorator.js';
import { API_KEY_SCHEME } from '../auth/with-key.decorator.js';
import { EXAMPLE_MEDIA_URL } from '../common/http/example-media.js';
import { ModelParameters } from '../models/model-parameters.js';
import { OwnUrl } from '../net/own-url.js';
import { METRICS_SCHEME } from '../observability/metrics.controller.js';
import { SANDBOX_MEDIA_PATH, SandboxMedia } from '../sandbox-media/sandbox-media.js';

const DESCRIPTION = [
  'One HTTP API, one key, one balance in front of many AI providers.',
  'Each request is priced before the provider is called, held, then settled or released exactly once.',
  'Amounts are micro-USD (1 USD = 1,000,000). Branch on the HTTP status and `error.code`.',
].join(' ');

/** The OpenAPI document, generated from the controllers. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Shim')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: 'API key `sk-…`' },
      API_KEY_SCHEME,
    )
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN' }, ADMIN_SCHEME)
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'METRICS_TOKEN' }, METRICS_SCHEME)
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method) => `${controller.replace('Controller', '')}_${method}`,
  });
  emptyOptionalFormFields(document);
  return document;
}

/**
 * Swagger UI fills every field of a form with an example or a made-up value and sends them all, but of `file` and
 * `audio_url` only one may be sent: the optional fields of a form begin empty here, and `withoutEmptyFields` leaves them out.
 */
function emptyOptionalFormFields(document: OpenAPIObject): void {
  for (const path of Object.values(document.paths)) {
    const body = path.post?.requestBody;
    const form = body && 'content' in body ? body.content['multipart/form-data'] : undefined;
    const schema =
      form?.schema && '$ref' in form.schema ? schemaOf(document, form.schema.$ref) : undefined;
    if (!form || !schema) continue;
    delete form.examples;
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) =>
      schema.required?.includes(name)
        ? [name, field]
        : [name, { ...field, example: '', default: undefined }],
    );
    form.schema = { ...schema, properties: Object.fromEntries(fields) as Properties };
  }
}

type Properties = NonNullable<Schema['properties']>;
type Schema = Exclude<
  NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string],
  { $ref: string }
>;

function schemaOf(document: OpenAPIObject, reference: string): Schema | undefined {
  const schema = document.components?.schemas?.[reference.split('/').at(-1) ?? ''];
  return schema && !('$ref' in schema) ? schema : undefined;
}

/** Serves the document at `/openapi.json` and Swagger UI at `/docs`. */
export function serveDocs(app: INestApplication): void {
  const document = openApiDocument(app);
  app.get(ModelParameters).readFrom(document);
  SwaggerModule.setup('docs', app, () => withOwnMedia(app, document), {
    jsonDocumentUrl: 'openapi.json',
    customSiteTitle: 'Shim API',
    swaggerOptions: {
      requestInterceptor: withoutEmptyFields,
      displayRequestDuration: true,
      tagsSorter: 'alpha',
      // Swagger UI would show a badge of another site.
      validatorUrl: 'none',
    },
  });
}

/**
 * With a sandbox the examples name its recordings on this gateway, so that they run as they stand. Asked for by the first
 * reader of the document: where the gateway listens is not known before.
 */
function withOwnMedia(app: INestApplication, document: OpenAPIObject): OpenAPIObject {
  if (!app.get(SandboxMedia).isServed) return document;
  const base = `${app.get(OwnUrl).href}${SANDBOX_MEDIA_PATH}`;
  const text = JSON.stringify(document).replaceAll(EXAMPLE_MEDIA_URL, () => base);
  return JSON.parse(text) as OpenAPIObject;
}

/** Runs in the browser, so it knows nothing of this file: fields left empty are not part of the form. */
function withoutEmptyFields(request: { body?: unknown }): { body?: unknown } {
  const { body } = request;
  if (body instanceof FormData) {
    for (const [name, value] of [...body.entries()]) if (value === '') body.delete(name);
  }
  return request;
}
