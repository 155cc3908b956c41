import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ADMIN_SCHEME } from '../../admin/operator-endpoint.decorator.js';
import { EXAMPLE_MEDIA_URL } from '../../common/example-media.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import { URL_FIELD } from '../../media/media-intake.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import { SANDBOX_MEDIA_PATH, SandboxMedia } from '../../sandbox-media/sandbox-media.js';
import { formOf, operationsOf, schemaOf } from './document-bodies.js';
import { SAMPLE_GATEWAY_URL } from './document-samples.js';

/**
 * The document as this gateway serves it. The operator API is left out if it is off, and the URL is the public one.
 * The samples call it there. With a sandbox, the examples name its recordings on this gateway, so that they run unchanged. It is built at the
 * first request, because the port is not known before.
 */
export function servedDocument(app: INestApplication, document: OpenAPIObject): OpenAPIObject {
  const { adminToken, publicUrl } = app.get<GatewayConfig>(GATEWAY_CONFIG);
  const offered = adminToken === undefined ? withoutAdmin(document) : document;
  const servers = publicUrl === undefined ? {} : { servers: [{ url: app.get(GatewayUrl).href }] };
  const { href } = app.get(GatewayUrl);
  const mediaUrl = app.get(SandboxMedia).isServed
    ? `${href}${SANDBOX_MEDIA_PATH}`
    : EXAMPLE_MEDIA_URL;
  const text = JSON.stringify({ ...offered, ...servers })
    .replaceAll(SAMPLE_GATEWAY_URL, () => href)
    .replaceAll(EXAMPLE_MEDIA_URL, () => mediaUrl);
  return JSON.parse(text) as OpenAPIObject;
}

/**
 * The document for the page. Swagger UI fills every field of a form with an example and sends all of them. So the
 * optional fields of a form begin empty here, but for the URL of a recording, and `formAsFilled` removes what is not to be
 * sent. The page calls the gateway that served it.
 */
export function pageDocument(served: OpenAPIObject): OpenAPIObject {
  const document = { ...structuredClone(served), servers: [{ url: '/' }] };
  for (const operation of operationsOf(document)) {
    const form = formOf(operation);
    const schema = schemaOf(document, form?.schema);
    if (!form || !schema) continue;
    delete form.examples;
    form.schema = structuredClone(schema);
    for (const [name, field] of Object.entries(form.schema.properties ?? {})) {
      const isOffered = name === URL_FIELD || schema.required?.includes(name);
      if (!isOffered)
        Object.assign(field, { example: 'type' in field && field.type === 'array' ? [] : '' });
    }
  }
  return document;
}

function withoutAdmin(document: OpenAPIObject): OpenAPIObject {
  const { components = {}, tags = [] } = document;
  const { [ADMIN_SCHEME]: _admin, ...securitySchemes } = components.securitySchemes ?? {};
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => !path.startsWith('/admin')),
  );
  const offered = {
    ...document,
    paths,
    tags: tags.filter(({ name }) => name !== 'admin'),
    components: { ...components, securitySchemes },
  };
  return { ...offered, components: { ...offered.components, schemas: usedSchemas(offered) } };
}

/** The schemas that the document refers to, directly or through others. */
function usedSchemas(document: OpenAPIObject) {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(document.paths);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}
