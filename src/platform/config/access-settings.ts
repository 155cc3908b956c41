import {
  headerNames,
  issuer,
  networks,
  oneOf,
  origins,
  roleRules,
  secret,
  setting,
  text,
  token,
} from './setting.js';

const TOKEN_MIN_LENGTH = 16;

/** Settings that decide who may call, and which proxies may name a client's address. */
export const ACCESS_SETTINGS = {
  ADMIN_TOKEN: secret(
    setting(
      'adminToken',
      'unset',
      undefined,
      token(TOKEN_MIN_LENGTH),
      'Enables `/admin`; at least 16 characters',
    ),
  ),
  CONSOLE: setting(
    'console',
    'on',
    'on',
    oneOf('on', 'off'),
    '`off`: no page at `/console`, and no sessions. A process with `ROLE=worker` has none either',
  ),
  METRICS_TOKEN: secret(
    setting(
      'metricsToken',
      'unset',
      undefined,
      token(TOKEN_MIN_LENGTH),
      'Bearer token of `/metrics`, at least 16 characters. Unset: `/metrics` answers only where `HOST` is a loopback address, else 404',
    ),
  ),
  TRUST_PROXY: setting(
    'trustProxy',
    'unset',
    [],
    networks,
    'Addresses or networks of proxies whose `X-Forwarded-For` names the client, separated by commas',
  ),
  CORS_ORIGINS: setting(
    'corsOrigins',
    'empty',
    [],
    origins,
    'Origins of web pages and apps that may call `/v1`, separated by commas, such as `https://app.example` or `tauri://localhost`. `*`: every origin. Empty: none',
  ),
  OIDC_ISSUER: setting(
    'oidcIssuer',
    'unset',
    undefined,
    issuer,
    'Identity provider with which operators sign in to the console, such as `https://login.example`. Needs the three settings below',
  ),
  OIDC_CLIENT_ID: setting(
    'oidcClientId',
    'unset',
    undefined,
    text(),
    'Name of the gateway at the identity provider',
  ),
  OIDC_CLIENT_SECRET: secret(
    setting(
      'oidcClientSecret',
      'unset',
      undefined,
      text(),
      'Secret of the gateway at the identity provider',
    ),
  ),
  OIDC_ROLES: setting(
    'oidcRoles',
    'empty',
    [],
    roleRules,
    'Which claim gives which role, separated by commas, such as `groups=ops:admin,email=jo@example.com:viewer`. The highest counts; without one nobody gets in',
  ),
  RUN_HEADERS: setting(
    'runHeaders',
    'empty',
    [],
    headerNames,
    'Names of headers that name the run of a call where it has no `x-gateway-run`, such as those in which coding agents send the id of their session; separated by commas, the first that is sent counts',
  ),
} as const;
