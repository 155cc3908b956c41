import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ModelParameters } from '../../models/model-parameters.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import { openApiDocument } from './api-document.js';
import { pageDocument, servedDocument } from './served-document.js';
import { swaggerOperationParts } from './swagger-operation-parts.js';
import { swaggerResponseMedia } from './swagger-response-media.js';
import { swaggerSearch } from './swagger-search.js';
import { swaggerSession } from './swagger-session.js';

/** Fields of a model that are shown unfolded, as nested objects. */
const MODEL_DEPTH = 3;

/**
 * The document has no links between responses; their empty column is too wide for a telephone. The errors are a table of
 * the page's own, so a status among them is not "Undocumented".
 */
const STYLES = `
.swagger-ui .response-col_links, .swagger-ui .response-undocumented { display: none }
.swagger-ui .operation-samples, .swagger-ui .operation-errors { padding: 10px 20px; font-size: 14px }
.swagger-ui .operation-samples summary, .swagger-ui .operation-errors summary { cursor: pointer; padding: 4px 0 }
.swagger-ui .operation-sample pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px }
.swagger-ui .operation-errors td, .swagger-ui .operation-errors th { padding: 3px 8px 3px 0; text-align: left; vertical-align: top; overflow-wrap: anywhere }
.swagger-ui .answer-pictures img { display: block; max-width: 100%; max-height: 480px; margin: 10px 0 }
@media (max-width: 600px) { .swagger-ui .opblock-description-wrapper, .swagger-ui .opblock-section-header { padding: 8px 10px } }
`;

/** Serves the document at `/openapi.json` and Swagger UI at `/docs`. */
export function serveSwaggerUi(app: NestExpressApplication): void {
  const document = openApiDocument(app);
  app.get(ModelParameters).readFrom(document);
  app
    .getHttpAdapter()
    .getInstance()
    .get('/', respondToRoot(app.get(GatewayUrl)));
  let text: string | undefined;
  app
    .getHttpAdapter()
    .getInstance()
    .get('/openapi.json', (_request: Request, response: Response) => {
      text ??= JSON.stringify(servedDocument(app, document));
      response.type('application/json').send(text);
    });
  SwaggerModule.setup('docs', app, () => pageDocument(servedDocument(app, document)), {
    raw: false,
    customSiteTitle: 'Shim API',
    customCss: STYLES,
    swaggerOptions: {
      requestInterceptor: formAsFilled,
      plugins: [swaggerResponseMedia, swaggerSession, swaggerOperationParts, swaggerSearch],
      filter: true,
      defaultModelExpandDepth: MODEL_DEPTH,
      displayRequestDuration: true,
      // Switches off the badge that Swagger UI would load from another site.
      validatorUrl: 'none',
    },
  });
}

/** At the root path, a browser is sent to the page, and a program gets the list of paths. */
function respondToRoot(gatewayUrl: GatewayUrl) {
  return (request: Request, response: Response): void => {
    const at = gatewayUrl.pathPrefix;
    response.vary('Accept');
    if (request.accepts(['json', 'html']) === 'html') response.redirect(`${at}/docs`);
    else {
      const paths = { docs: `${at}/docs`, openapi: `${at}/openapi.json`, api: `${at}/v1` };
      response.json({ name: 'Shim', ...paths });
    }
  };
}

/**
 * Runs in the browser, so it can use nothing else of this file. It removes empty fields from the form, and the URL that the
 * page offers when a file was chosen, as only one of them may be sent.
 */
function formAsFilled(request: { body?: unknown }): { body?: unknown } {
  const { body } = request;
  if (body instanceof FormData) {
    for (const [name, value] of [...body.entries()]) if (value === '') body.delete(name);
    if (body.has('file')) body.delete('audio_url');
  }
  return request;
}
