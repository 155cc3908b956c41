import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ADMIN_SCHEME } from './admin/operator-endpoint.decorator.js';
import { API_KEY_SCHEME } from './auth/with-key.decorator.js';

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
    .build();
  return SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method) => `${controller.replace('Controller', '')}_${method}`,
  });
}

/** Serves the document at `/openapi.json` and Swagger UI at `/docs`. */
export function serveDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    customSiteTitle: 'Shim API',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      tagsSorter: 'alpha',
    },
  });
}
