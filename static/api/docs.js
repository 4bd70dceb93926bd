// Swagger UI on the element that names the schema.  The key that is typed in stays in this tab.
const element = document.getElementById("api");
SwaggerUIBundle({
  url: element.dataset.schema,
  domNode: element,
  deepLinking: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
