// The way of a request of the page to the server. The playground has another: it needs no server.

export const request = (path, options) => fetch(path, options);
export const destination = `goes to ${location.host} and nowhere else`;
