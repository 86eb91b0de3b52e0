// A login for tests: every client is a user, who gets an opaque token, or a signed
// one where its name says so.
import { Provider } from 'oidc-provider';

const { ISSUER, RESOURCE, KEYS, SECRET } = process.env;
const users = ['opaque-ann', 'signed-bob'];
const client = (client_id, grants) => ({ client_id, client_secret: SECRET, grant_types: grants, redirect_uris: [], response_types: [] });
const provider = new Provider(ISSUER, {
  clients: [...users.map((u) => client(u, ['client_credentials'])), client('knowledge', [])],
  jwks: JSON.parse(KEYS),
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      getResourceServerInfo: (ctx, resource, c) => ({
        scope: 'knowledge', audience: resource, accessTokenTTL: 3600,
        accessTokenFormat: c.clientId.startsWith('signed') ? 'jwt' : 'opaque',
      }),
    },
  },
});
provider.listen(Number(new URL(ISSUER).port), '127.0.0.1', () => console.log('listening'));
