mod cc2500;
mod fm25;
mod rfm12b;
